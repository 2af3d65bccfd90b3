"""The README's pictures: written by the script as the explorers are now, and small."""

from PIL import Image

from . import pictures


def test_the_readme_shows_what_the_script_draws():
    drawn = {}
    lines = pictures.draw(lambda name, *frames: drawn.update({name: frames}))
    readme = pictures.README.read_text(encoding="utf-8")
    assert f"{pictures.START}\n\n{lines}\n\n{pictures.END}" in readme, "run: python -m tests.pictures"
    names = {f"{name}_{theme}.webp" for name in drawn for theme in ("light", "dark")}
    assert {file.name for file in pictures.FOLDER.iterdir()} == names
    for name, frames in drawn.items():
        with Image.open(pictures.FOLDER / f"{name}_light.webp") as shown:
            assert (shown.size, shown.n_frames) == (frames[0].size, len(frames))
    size = {file.name: file.stat().st_size for file in pictures.FOLDER.iterdir()}
    moving = [size.pop(f"{pictures.MOVING}_{theme}.webp") for theme in ("light", "dark")]
    assert max(moving) < 300_000 and sum(size.values()) < 400_000


def test_a_dark_picture_keeps_hues_and_order_of_lightness_turned_round():
    image = Image.new("RGB", (3, 1))
    for x, color in enumerate(((255, 255, 255), (0, 114, 178), (0, 0, 0))):
        image.putpixel((x, 0), color)
    assert [pictures.dark(image).getpixel((x, 0)) for x in range(3)] == [
        (13, 17, 23),
        (77, 191, 255),
        (255,) * 3,
    ]
