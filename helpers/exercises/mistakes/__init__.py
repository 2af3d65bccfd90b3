"""The catalogue: mistakes in words, one file a family.

An entry is a line `name: decision = wrong choice`, where decision is a keyword of the family's model and choice
what it is set to (see the modules of the same names one folder up), and below it, indented, what the learner is
told. Words in {braces} are filled in by the exercise; a # is a number that is read off the learner's answers
(see fitting.py there).
"""
