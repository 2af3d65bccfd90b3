"""What the page needs besides widgets: for those who use a keyboard or a screen reader, and for narrow windows.

A script is not run inside a widget's HTML, an event is; a picture that cannot load is the event, nothing
is fetched. The script may run as often as it likes: it works on all explorers that are there.
"""

SCRIPT = """
const all = (words, within = document) => [...within.querySelectorAll(words)];

// The handle of a slider, the number beside it and a row of buttons have no name of their own.
const named = (words, role, parts) => all(words).forEach(control => {
  const name = control.querySelector('.widget-label')?.textContent.trim();
  for (const part of parts(control)) {
    if (name) part.setAttribute('aria-label', name);
    if (role) part.setAttribute('role', role);
  }
});
named('.widget-slider', '', slider => all('.noUi-handle', slider));
named('.widget-slider', 'textbox', slider => all('.widget-readout[contenteditable]', slider));
named('.widget-toggle-buttons', 'group', row => [row]);

// Which button of a row is pressed is told by its colour alone. And a button that is disabled because it was
// pressed, or has done its work, loses the focus: the next one in its row gets it, else Reset.
const press = button => button.setAttribute('aria-pressed', button.classList.contains('mod-active'));
all('.widget-toggle-button').forEach(press);
const moveOn = button => (button.parentElement.querySelector('button:enabled') ??
  button.closest('.course-live')?.querySelector('.course-reset'))?.focus();
if (!window.courseButtons) {
  window.courseButtons = new MutationObserver(changes => changes.forEach(({target}) => {
    if (target.matches('.widget-toggle-button')) press(target);
    if (target.disabled && target === document.activeElement) moveOn(target);
  }));
  window.courseButtons.observe(document.body, {subtree: true, attributeFilter: ['class', 'disabled']});
  // The browser may have taken the focus away before the observer is told.
  document.addEventListener('focusout', ({target}) => setTimeout(() => {
    if (target.disabled && document.activeElement === document.body) moveOn(target);
  }));
}

// What scrolls sideways can be reached with Tab, as long as there is something to scroll.
if (!window.courseSizes)
  window.courseSizes = new ResizeObserver(changes => changes.forEach(({target}) => {
    if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', 0);
    else target.removeAttribute('tabindex');
  }));
for (const wide of all('.course-wide')) {
  wide.setAttribute('role', 'group');
  wide.setAttribute('aria-label', 'shown; may scroll sideways');
  window.courseSizes.observe(wide);
}

// JupyterLab takes the up and down keys away from menus and radio buttons, Notebook 7 all arrow keys from sliders,
// unless an attribute of theirs says that no shortcut is meant.
if (!window.courseKeys) {
  window.courseKeys = event => {
    if (event.target.matches?.('.jupyter-widgets :is(select, input[type=radio], [role=slider])'))
      event.target.toggleAttribute('data-lm-suppress-shortcuts', event.key.startsWith('Arrow'));
  };
  window.addEventListener('keydown', window.courseKeys, true);
}

// An Image sends no clicks: their place is written into a hidden Text.
if (!window.coursePick) {
  window.coursePick = event => {
    const image = event.target;
    const place = image.matches?.('.course-pick') && image.closest('.course-live').querySelector('.course-place input');
    if (!place) return;
    // The time makes it a change, though the place may be the same.
    place.value = [event.offsetX / image.clientWidth, event.offsetY / image.clientHeight, event.timeStamp].join(' ');
    place.dispatchEvent(new Event('change', {bubbles: true}));
  };
  window.addEventListener('click', window.coursePick, true);
}
"""

# A sentence has room for live.ROOM letters, for a quarter more than the first one and for the longest one so far:
# the picture below it stays where it is.
STYLE = """
.course-wide { overflow: auto hidden; }
.course-wide > img { border-radius: 6px; box-sizing: content-box; }
.course-sentence { display: grid; }
.course-sentence > span, .course-sentence::after { grid-area: 1 / 1; }
.course-sentence::after { content: attr(data-longest); visibility: hidden; }
.course-pick { cursor: pointer; }
.widget-toggle-buttons > .widget-label { flex-shrink: 0; }
.course-live .widget-tab-contents { padding: 4px 12px !important; }
.course-live .lm-TabBar-tab { min-width: max-content !important; }
"""


def on_page(script):
    """HTML that runs a script (without double quotes) as soon as it is on the page."""
    return f'<img src="data:," alt="" style="display:none" onerror="{script}">'


PAGE = f"{on_page(SCRIPT)}<style>{STYLE}</style>"
