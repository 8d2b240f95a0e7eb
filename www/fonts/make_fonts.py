"""Makes the page's fonts from TeX Gyre Pagella: python3 make_fonts.py FOLDER_OF_OTF_FILES

Writes lab-math.woff2 and lab-serif-{regular,italic,bold}.woff2 beside itself. Needs fonttools and brotli.
"""

import pathlib
import string
import sys

from fontTools import subset
from fontTools.ttLib import TTFont

HERE = pathlib.Path(__file__).parent

UPRIGHT = string.digits + string.ascii_letters + " ()[]{}|/,.;:!?+<=>*'\"%&#@_-"
OPERATORS = "−±×·⋅√∑∞∂∇∈≤≥≠≈→⊤‖∥′…⋯½–‘’“”\u2061\u2062\u2063"
GREEK = "αβδεθλμπσΔΣ"
# MathML draws a one-letter <mi> with these: italic A–Z, a–z (h is ℎ), and the Greek above in italics.
ITALIC = [*range(0x1D434, 0x1D468), 0x210E, *(0x1D6FC + ord(c) - ord("α") for c in GREEK if c >= "α")]
# Letters and digits that stand in subscripts have shapes of their own there; the others are scaled.
SCRIPT = [*(ord(c) for c in string.digits + "−,"), *range(0x1D44E, 0x1D468), 0x210E, 0x1D6FC]

# What prose and variables are written with. The bold only writes the page's name.
PROSE = UPRIGHT + "−×·½–—‘’“”…₀₁₂₃₄₅₆₇₈₉"
TEXT = {
    "regular": PROSE + "αδΣ√≤≥∞",
    "italic": PROSE + "αεσδ",
    "bold": string.ascii_letters + " -",
}


def keep_script_forms(font: TTFont) -> None:
    """Drops the smaller shapes of everything that is not in SCRIPT."""
    cmap = font.getBestCmap()
    keep = {cmap[c] for c in SCRIPT if c in cmap}
    table = font["GSUB"].table
    for feature in table.FeatureList.FeatureRecord:
        if feature.FeatureTag != "ssty":
            continue
        for index in feature.Feature.LookupListIndex:
            for sub in table.LookupList.Lookup[index].SubTable:
                sub = getattr(sub, "ExtSubTable", sub)
                if hasattr(sub, "alternates"):
                    sub.alternates = {g: a for g, a in sub.alternates.items() if g in keep}


def rename(font: TTFont, family: str, style: str) -> None:
    """The licence asks that changed fonts have another name."""
    renamed = {
        1: family,
        3: f"{family} {style}, subset of TeX Gyre Pagella",
        4: f"{family} {style}",
        6: f"{family}-{style}".replace(" ", ""),
        16: family,
    }
    names = font["name"]
    for record in list(names.names):
        if record.nameID in renamed:
            names.setName(renamed[record.nameID], record.nameID, record.platformID, record.platEncID, record.langID)
    if "CFF " in font:
        cff = font["CFF "].cff
        cff.fontNames[0] = renamed[6]
        cff.topDictIndex[0].FullName = renamed[4]
        cff.topDictIndex[0].FamilyName = family


def make(source: pathlib.Path, target: str, codes: list[int], features: list[str], family: str, style: str) -> None:
    font = TTFont(source)
    options = subset.Options()
    options.flavor = "woff2"
    options.layout_features = features
    options.hinting = False
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.notdef_outline = True
    options.glyph_names = False
    options.drop_tables += ["FFTM", "DSIG"]
    if features == ["ssty"]:
        keep_script_forms(font)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    rename(font, family, style)
    subset.save_font(font, HERE / target, options)
    print(target, (HERE / target).stat().st_size, "bytes")


def main(folder: str) -> None:
    source = pathlib.Path(folder)
    math = [ord(c) for c in UPRIGHT + OPERATORS + GREEK] + ITALIC
    make(source / "texgyrepagella-math.otf", "lab-math.woff2", math, ["ssty"], "Lab Math", "Regular")
    for style, letters in TEXT.items():
        codes = [ord(c) for c in letters]
        make(source / f"texgyrepagella-{style}.otf", f"lab-serif-{style}.woff2", codes, [], "Lab Serif", style.title())


if __name__ == "__main__":
    main(*sys.argv[1:])
