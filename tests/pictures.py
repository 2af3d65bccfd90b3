"""Draw the README's pictures of explorers, light and dark, and write them into it: python -m tests.pictures"""

import html
import io
from pathlib import Path

import numpy as np
from PIL import Image

from helpers import explorers
from helpers.live import still

COURSE = Path(__file__).parents[1]
FOLDER, README = COURSE / ".github" / "pictures", COURSE / "README.md"
START, END = "<!-- written by python -m tests.pictures -->", "<!-- end of what it writes -->"
SHOWN = ("two_switches", "paths", "drift", "geometry", "which_numbers", "pre_or_post")
MOVING = "gradient_bars"
DEPTHS = range(4, 65, 4)
MOVES = [{"layers": n} for n in DEPTHS] + [{"layers": n, "residual": True} for n in reversed(DEPTHS)]
MILLISECONDS = 220  # for each move


def picture(explorer):
    """What an explorer shows now, its sentence above it: RGB."""
    return Image.open(io.BytesIO(still(explorer._blitter.frame(), explorer.sentence))).convert("RGB")


def dark(image):
    """The same with light and dark exchanged; hues stay. Black becomes the background of a dark page."""
    rgb = np.asarray(image).astype(int)
    turned = rgb + 255 - rgb.max(axis=2, keepdims=True) - rgb.min(axis=2, keepdims=True)
    return Image.fromarray(np.maximum(turned, (13, 17, 23)).astype(np.uint8))


def save(name, *frames):
    """Write a picture, or a moving one, light and dark; WebP, lossless."""
    look = {"lossless": True, "method": 6}
    if len(frames) > 1:
        look |= {"save_all": True, "duration": MILLISECONDS, "loop": 0}
    for theme, shown in (("light", frames), ("dark", list(map(dark, frames)))):
        shown[0].save(FOLDER / f"{name}_{theme}.webp", append_images=shown[1:], **look)


def tag(name, words, moving=False):
    """HTML of a picture that follows the reader's theme; a moving one stands still for who wants it so."""
    place = FOLDER.relative_to(COURSE).as_posix()
    dark = "(prefers-color-scheme: dark)"
    sources = {dark: f"{name}_dark"}
    if moving:
        calm = "(prefers-reduced-motion: reduce)"
        sources = {f"{dark} and {calm}": f"{name}_still_dark", calm: f"{name}_still_light", **sources}
    lines = [f'<source media="{media}" srcset="{place}/{file}.webp">' for media, file in sources.items()]
    alternative = html.escape(words, quote=True)
    return f'<picture>{"".join(lines)}<img alt="{alternative}" src="{place}/{name}_light.webp"></picture>'


def draw(write):
    """The lines for the README; write(name, *frames) is given each picture."""
    moving = explorers.ALL[MOVING]()
    write(f"{MOVING}_still", picture(moving))
    lines = [tag(MOVING, f"A slider is moved. At first: {moving.sentence}", moving=True), ""]
    frames = []
    for move in MOVES:
        moving.set(**move)
        frames.append(picture(moving))
    write(MOVING, *frames)
    cells = []
    for name in SHOWN:
        explorer = explorers.ALL[name]()
        write(name, picture(explorer))
        cells.append(tag(name, explorer.sentence))
    first, *rows = (f"| {one} | {other} |" for one, other in zip(cells[::2], cells[1::2]))
    return "\n".join([*lines, first, "|---|---|", *rows])


def main():
    """Draw all pictures and write the README's lines."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    before, _, rest = README.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    README.write_text(f"{before}{START}\n\n{draw(save)}\n\n{END}{after}", encoding="utf-8")
    for file in sorted(FOLDER.iterdir()):
        print(f"{file.name}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
