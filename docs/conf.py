"""Sphinx settings of the documentation site; `scripts/docs` builds it, without network."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

from site_pages.outside import TAKEN

from podium.base.version import version as _version

project = "podium"
author = "the podium developers"
version = release = _version()
html_short_title = "podium: learning to rank, with the probabilities of ranks"

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design", "site_pages"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_extensions", *TAKEN]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # blocks of shell that show what is printed
add_module_names = False
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 88
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = html_short_title
html_favicon = "_static/podium.svg"
html_context = {"default_mode": "auto"}
html_sidebars = {"gallery": []}  # it has no pages below it
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_extensions" / "search_scores.js")
html_theme_options = {
    "logo": {"text": "podium"},
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_copyright = False
