"""How the site is built: ``make docs``. No network is used, and warnings are errors."""

import re
import sys
from pathlib import Path

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

from askfew import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "askfew"
author = "The askfew founders"
copyright = "The askfew founders, MIT licence"  # noqa: A001 - Sphinx's own name
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "constants",
    "line_breaks",
]
exclude_patterns = ["_build", "gallery", "auto_gallery/*.ipynb"]
myst_heading_anchors = 4  # pages link to each other's headings, as they do in any Markdown viewer
myst_enable_extensions = ["dollarmath", "deflist"]

html_theme = "furo"
html_title = f"askfew {release}"
html_static_path = ["_static"]
html_css_files = ["askfew.css"]
html_theme_options = {
    "top_of_page_buttons": [],  # there is no page source to show
    "light_css_variables": {"code-font-size": "0.78em"},
}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {  # not what they stand for
    "ArrayLike": "ArrayLike",
    "NDArray": "NDArray",
    "Ints": "NDArray[int64]",
    "Floats": "NDArray[float64]",
}
maximum_signature_line_length = 90  # longer ones get a line for each parameter
python_use_unqualified_type_names = True

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": "/plot_",
    "show_memory": False,
    "min_reported_time": 10**6,  # times differ from machine to machine, and so would the pages
    "write_computation_times": False,  # for the same reason, and their page fetches scripts
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}
html_math_renderer = "mathml"
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings cannot be pickled


_FORMULA = re.compile(r"(\$\$?)([^$]+)\1")


def _say_formulas(app, what, name, obj, options, lines):  # noqa: ARG001 - Sphinx passes them all
    """Docstrings write formulas between dollars, which reStructuredText does not know."""

    def said(found: re.Match[str]) -> str:
        return f":math:`{' '.join(found[2].split())}`"

    lines[:] = _FORMULA.sub(said, "\n".join(lines)).splitlines()


def _say_types(app, what, name, obj, options, signature, returns):  # noqa: ARG001
    """A name of a type inside a union comes as ``TypeAliasForwardRef('ArrayLike')``.

    A default may be ``<factory>`` or the like, which is no Python, so commas within types would
    be taken for those between parameters.
    """

    def said(text: str | None) -> str | None:
        text = text and re.sub(r"TypeAliasForwardRef\('([^']+)'\)", r"\1", text)
        return text and re.sub(r"<[^<>]+>", "...", text)

    return said(signature), said(returns)


def _mathml(display: str):
    """Formulas as MathML, which browsers draw by themselves: no script is fetched for them."""

    def visit(writer, node):
        formula = convert(node.astext(), display=display)
        wide = f'<div class="formula">{formula}</div>'  # it scrolls by itself on a phone
        writer.body.append(formula if display == "inline" else wide)
        raise SkipNode

    return visit, None


def setup(app):
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", _mathml("inline"), _mathml("block"))
    app.connect("autodoc-process-docstring", _say_formulas)
    app.connect("autodoc-process-signature", _say_types)
