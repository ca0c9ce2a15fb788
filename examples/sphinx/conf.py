"""A Sphinx site with live predictions."""

import os

project = "Serving guide"
exclude_patterns = ["_build"]

rooflight = os.environ.get("ROOFLIGHT_URL", "https://example.org/rooflight/")
html_js_files = [(rooflight + "roof-light.js", {"type": "module"})]
# |rooflight| in a page is the address.
rst_prolog = f".. |rooflight| replace:: {rooflight}"
