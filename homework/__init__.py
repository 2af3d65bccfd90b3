"""The teacher's desk: lessons as homework, built on nbgrader. Learners never need it; `helpers` does not know it.

    python -m homework new FOLDER --lessons 03 05    a course folder for nbgrader
    python -m homework grade ASSIGNMENT              grades a class, all cores, one writer

What belongs where:

    building.py    a lesson's notebook -> nbgrader's source notebook: exercises, checks, written questions
    variants.py    an exercise whose answer stands nowhere: one specification gives prompt, solution, mistakes
    ingredients.py what it chooses from: for each decision the choices, with their words and their code
    frames.py      what that is put in: for each exercise its task, formulas, solution and inputs
    folder.py      the course folder: configuration, roster, the teacher's page; what is kept secret
    settings.py    the two preprocessors and the settings that nbgrader gets
    rebuilding.py  a submission, whatever happened to it -> the released notebook with its answers
    pictures.py    the pictures of an answer: kept, and a place held for those that are missing
    looking.py     what a teacher should look at in an answer's text
    kernel.py      a kernel, in bubblewrap where that is installed
    inside/        the two files that run inside it
    judging.py     runs a rebuilt notebook; asks the student's functions, and compares here
    grading.py     a whole class: process pool or Dask, one writer, logs
    leaks.py       looks for what should not be in a student's hands

What travels: a submission (bytes) -> rebuilt on the released notebook -> run in a kernel of its own, which is
given arguments and sends back values -> diagnosed by the check of the lesson, in the grader's process -> a
notebook whose graded cells hold the verdict, from which nbgrader takes the marks. So no right answer is ever in
the process that runs a student's code, and `nbgrader autograde` and `python -m homework grade` give equal marks:
they call the same function, `judging.judge`.
"""
