"""``gpumoat dies`` and ``gpumoat resolution``: chips on a wafer, and the finest lines of a scanner.

Lengths go in as data sheets give them, in millimetres and nanometres, and are refused in the same terms.
"""

from __future__ import annotations

from typing import Annotated

import typer

from gpumoat import lithography as litho
from gpumoat.commands.answer import Answer, Json, bad_input, refuse
from gpumoat.facts import fact

MM_PER_M, NM_PER_M, CM2_PER_M2 = 10**3, 10**9, 10**4


def register(app: typer.Typer) -> None:
    """Add the commands of this subject."""
    app.command()(dies)
    app.command()(resolution)


def dies(
    width_mm: Annotated[float, typer.Option(help="Width of a die.")],
    height_mm: Annotated[float, typer.Option(help="Height of a die.")],
    wafer_mm: Annotated[float, typer.Option(help="Diameter of the wafer.")] = 300,
    edge_mm: Annotated[float, typer.Option(help="Ring at the wafer's edge that is not used.")] = 3,
    scribe_mm: Annotated[float, typer.Option(help="Gap between dies, where the saw goes.")] = 0.1,
    defects_per_cm2: Annotated[
        float | None, typer.Option(help="Defects that kill a die; without it no yield is given.")
    ] = None,
    yield_model: Annotated[str, typer.Option(help=f"One of {', '.join(litho.YIELD_MODELS)}.")] = "poisson",
    clustering: Annotated[
        float | None, typer.Option(help="The a of negative-binomial: the smaller, the more the defects cluster.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count the dies on a wafer, and how many of them work."""
    for option, value in (("--width-mm", width_mm), ("--height-mm", height_mm), ("--wafer-mm", wafer_mm)):
        _above_zero(option, value)
    for option, value in (("--edge-mm", edge_mm), ("--scribe-mm", scribe_mm)):
        _not_below_zero(option, value)
    if not edge_mm < wafer_mm / 2:
        refuse(f"--edge-mm must be less than half of the wafer, {wafer_mm / 2:g}, not {edge_mm:g}")
    width, height, wafer, edge, scribe = (
        each / MM_PER_M for each in (width_mm, height_mm, wafer_mm, edge_mm, scribe_mm)
    )
    area = width * height
    count = litho.dies_on_wafer(width, height, wafer, edge, scribe)
    field_width, field_height = fact("scanner-field.width_m"), fact("scanner-field.height_m")
    answer = Answer(f"Dies of {width_mm:g} mm x {height_mm:g} mm on a wafer of {wafer_mm:g} mm")
    answer.add("die_m2", "area of a die", area, ",.1f mm²", "width x height")
    answer.add(
        "fits_field",
        "printed in one piece",
        litho.fits_field(width, height, field_width, field_height),
        "",
        f"lies in a field of {field_width * MM_PER_M:g} mm x {field_height * MM_PER_M:g} mm, either way",
    )
    gaps = f"edge {edge_mm:g} mm, gaps {scribe_mm:g} mm"
    answer.add("dies_count", "whole dies", count, ",d", f"counted: the best of four ways to centre the grid; {gaps}")
    usable = count / litho.dies_by_area(area, wafer)
    answer.add("used_share", "share of the wafer's area", usable, ".1%", "dies x area / area of the wafer")
    estimate = litho.dies_less_edge(area, wafer)
    answer.add(
        "estimate_count", "usual estimate", estimate, ",.1f", "pi d²/4A - pi d/sqrt(2A), knows no gaps and no shape"
    )
    if defects_per_cm2 is not None or yield_model != "poisson" or clustering is not None:
        if defects_per_cm2 is None:
            refuse("--defects-per-cm2 is missing: a yield model needs a density of defects")
        names = {"defects_per_m2": "--defects-per-cm2", "model": "--yield-model", "clustering": "--clustering"}
        _not_below_zero("--defects-per-cm2", defects_per_cm2)
        with bad_input(names):
            share = litho.yield_share(area, defects_per_cm2 * CM2_PER_M2, yield_model, clustering)
        mean = area * defects_per_cm2 * CM2_PER_M2
        answer.add("defects_count", "defects on a die", mean, ",.3f", "area x density, on average")
        answer.add("yield_share", "dies without a defect", share, ".1%", f"{yield_model} model")
        answer.add("good_count", "good dies", litho.good_dies(count, share), ",.1f", "whole dies x yield, on average")
        answer.notes.append(
            "A chip with spare parts sells in spite of a defect: then more dies are good than this says."
        )
    answer.show(as_json)


def resolution(
    wavelength_nm: Annotated[float, typer.Option(help="Wavelength of the light in vacuum: 13.5 for EUV, 193 for ArF.")],
    na: Annotated[float, typer.Option(help="Numerical aperture: 0.33 or 0.55 for EUV, 1.35 under water.")],
    k1: Annotated[
        float | None, typer.Option(help="What process and mask reach; without it only the limit of optics is given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute the finest lines that one exposure prints, and how deep they stay sharp."""
    _above_zero("--wavelength-nm", wavelength_nm)
    _above_zero("--na", na)
    wavelength = wavelength_nm / NM_PER_M
    answer = Answer(f"Light of {wavelength_nm:g} nm through an aperture of {na:g}")
    if k1 is not None:
        _above_zero("--k1", k1)
        with bad_input({"k1": "--k1"}):
            half_pitch = litho.resolution_m(wavelength, na, k1)
        answer.add("half_pitch_m", "half-pitch", half_pitch, ",.2f nm", f"k1 x wavelength / NA with k1 = {k1:g}")
        answer.add("pitch_m", "pitch", 2 * half_pitch, ",.2f nm", "a line and a gap")
    least = litho.smallest_half_pitch_m(wavelength, na)
    answer.add("least_half_pitch_m", "limit of one exposure", least, ",.2f nm", "the same with k1 = 0.25, half-pitch")
    depth = litho.depth_of_focus_m(wavelength, na)
    answer.add("depth_of_focus_m", "depth of focus", depth, ",.1f nm", "wavelength / NA², in air or vacuum, about")
    answer.add("photon_j", "energy of a photon", litho.photon_energy_j(wavelength), ",.2f eV", "h c / wavelength")
    if na > 1:
        answer.notes.append("An aperture above 1 needs a liquid between lens and wafer, in which the focus is deeper.")
    answer.show(as_json)


def _above_zero(option: str, value: float) -> None:
    if not 0 < value < float("inf"):
        refuse(f"{option} must be a number above zero, not {value:g}")


def _not_below_zero(option: str, value: float) -> None:
    if not 0 <= value < float("inf"):
        refuse(f"{option} must be a number of zero or more, not {value:g}")
