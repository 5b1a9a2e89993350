"""A QR code as a drawing that a strict page may hold: no style, no script, no address."""

from __future__ import annotations

import qrcode

QUIET = 4
"""Modules of empty border, as the standard asks."""


def drawn(text: str) -> str:
    """An SVG of the code, always dark on light whatever the theme: not every camera reads the other way round."""
    code = qrcode.QRCode(border=QUIET)
    code.add_data(text)
    matrix = code.get_matrix()
    cells = (f"M{x} {y}h1v1h-1z" for y, row in enumerate(matrix) for x, dark in enumerate(row) if dark)
    size = len(matrix)
    return (
        f'<svg class="qr" viewBox="0 0 {size} {size}" role="img" aria-label="QR code" shape-rendering="crispEdges">'
        f'<rect width="{size}" height="{size}" fill="#fff"/><path fill="#000" d="{"".join(cells)}"/></svg>'
    )
