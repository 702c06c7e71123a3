"""How much of a laser's light reaches the wafer? The chain from the mains to the resist, link by link."""

from gpumoat import assume, claim, fact
from gpumoat import lithography as litho

# Tin: how large, how often, how far apart.
droplet_m = fact("tin-source.droplet_m")
large_droplet_m = fact("tin-source.large_droplet_m")
droplets_per_s = fact("tin-source.droplets_per_s")
speed_m_per_s = fact("tin-source.speed_m_per_s")
gap_m = litho.spacing_m(speed_m_per_s, droplets_per_s)
lecture_droplet_m = claim("lecture-tin-diameter")
too_small_ratio = droplet_m / lecture_droplet_m
wavelength_m = fact("euv.wavelength_m")

# Laser to light, in a machine whose chain is public.
laser_w = fact("nxe-3400b.laser_w")
laser_pulse_j = litho.pulse_energy_j(laser_w, droplets_per_s)
conversion_share = fact("nxe-3400b.conversion_share")
plasma_w = litho.source_power_w(laser_w, conversion_share)
source_w = fact("nxe-3400b.source_w")
collected_share = source_w / plasma_w
lost_first_share = (laser_w - plasma_w) / laser_w
source_pulse_j = litho.pulse_energy_j(source_w, droplets_per_s)

# Mirrors: four before the mask, the mask itself, six behind it.
before_mirrors = fact("euv-optics.illuminator_mirrors")
behind_mirrors = fact("euv-optics.projection_mirrors")
mirrors = before_mirrors + fact("euv-optics.masks_count") + behind_mirrors
reflectivity_share = fact("euv-optics.reflectivity_share")
mirrors_share = litho.mirrors_share(reflectivity_share, mirrors)
best_w = source_w * mirrors_share

# What two published throughputs of the next machine say of the light that arrives.
alike = assume(1, "the NXE:3400C has the source and the fields of the NXE:3400B: nothing that we read says so")
next_source_w = alike * source_w
fields = alike * fact("nxe-3400b.fields_count")
field_m2 = fact("scanner-field.width_m") * fact("scanner-field.height_m")
exposed_m2 = fields * field_m2
low_dose_j_per_m2 = fact("nxe-3400c.low_dose_j_per_m2")
low_wafers_per_s = fact("nxe-3400c.low_wafers_per_s")
dose_j_per_m2 = fact("nxe-3400c.high_dose_j_per_m2")
wafers_per_s = fact("nxe-3400c.high_wafers_per_s")
wafer_w = litho.implied_power_w(exposed_m2, low_dose_j_per_m2, low_wafers_per_s, dose_j_per_m2, wafers_per_s)
exposure_s = litho.exposure_s(dose_j_per_m2, exposed_m2, wafer_w)
overhead_s = litho.implied_overhead_s(exposure_s, wafers_per_s)
arriving_share = wafer_w / next_source_w
laser_share = wafer_w / laser_w
short_ratio = best_w / wafer_w
explaining_share = arriving_share ** (1 / mirrors)

# Both throughputs are stated as "at least": what each may hide moves the answer.
hidden = assume(1.03, "data sheets give at least so many wafers an hour, in steps of five: up to three per cent more")
low_wafer_w = litho.implied_power_w(
    exposed_m2, low_dose_j_per_m2, hidden * low_wafers_per_s, dose_j_per_m2, wafers_per_s
)
high_wafer_w = litho.implied_power_w(
    exposed_m2, low_dose_j_per_m2, low_wafers_per_s, dose_j_per_m2, hidden * wafers_per_s
)
low_laser_share = low_wafer_w / laser_w
high_laser_share = high_wafer_w / laser_w
wall_w = fact("nxe-3400c.wall_w")
wafer_j = wall_w / wafers_per_s

chain = [
    {"stage": "mains", "power_w": wall_w},
    {"stage": "laser", "power_w": laser_w},
    {"stage": "EUV from plasma", "power_w": plasma_w},
    {"stage": "EUV at focus", "power_w": source_w},
    {"stage": "wafer, at best", "power_w": best_w},
    {"stage": "wafer, as implied", "power_w": wafer_w},
]
for row in chain:
    print(f"{row['stage']:18} {row['power_w']:12,.1f} W")

# Does it foretell the machines that came after?
new_source_w = fact("nxe-3800e.source_w")
new_exposure_s = litho.exposure_s(dose_j_per_m2, exposed_m2, new_source_w * arriving_share)
fast_exposure_s = litho.exposure_s(dose_j_per_m2, exposed_m2, low_wafer_w)
fast_overhead_s = litho.implied_overhead_s(fast_exposure_s, wafers_per_s)
fast_wafers_per_s = litho.wafers_per_s(fast_exposure_s * next_source_w / new_source_w, fast_overhead_s)
slow_exposure_s = litho.exposure_s(dose_j_per_m2, exposed_m2, high_wafer_w)
slow_overhead_s = litho.implied_overhead_s(slow_exposure_s, hidden * wafers_per_s)
slow_wafers_per_s = litho.wafers_per_s(slow_exposure_s * next_source_w / new_source_w, slow_overhead_s)
demonstrated_w = fact("tin-source.demonstrated_w")
next_exposure_s = litho.exposure_s(dose_j_per_m2, exposed_m2, demonstrated_w * arriving_share)
planned_wafers_per_s = fact("tin-source.planned_wafers_per_s")
next_overhead_s = litho.implied_overhead_s(next_exposure_s, planned_wafers_per_s)
machines = [
    {
        "machine": "NXE:3400C",
        "source_w": next_source_w,
        "exposure_s": exposure_s,
        "foretold_wafers_per_s": litho.wafers_per_s(exposure_s, overhead_s),
        "stated_wafers_per_s": wafers_per_s,
    },
    {
        "machine": "NXE:3800E as first sold",
        "source_w": new_source_w,
        "exposure_s": new_exposure_s,
        "foretold_wafers_per_s": litho.wafers_per_s(new_exposure_s, overhead_s),
        "stated_wafers_per_s": fact("nxe-3800e.first_wafers_per_s"),
    },
    {
        "machine": "NXE:3800E, upgraded",
        "source_w": new_source_w,
        "exposure_s": new_exposure_s,
        "foretold_wafers_per_s": litho.wafers_per_s(new_exposure_s, overhead_s),
        "stated_wafers_per_s": fact("nxe-3800e.wafers_per_s"),
    },
    {
        "machine": "planned",
        "source_w": demonstrated_w,
        "exposure_s": next_exposure_s,
        "foretold_wafers_per_s": litho.wafers_per_s(next_exposure_s, overhead_s),
        "stated_wafers_per_s": planned_wafers_per_s,
    },
]

# Photons, lines, chips.
photon_j = litho.photon_energy_j(wavelength_m)
photons_per_m2 = litho.photons_per_m2(dose_j_per_m2, photon_j)
line_m = fact("nxe.resolution_m")
photons = photons_per_m2 * line_m**2
spread_share = litho.shot_noise_share(photons)
line_k1 = litho.k1_factor(line_m, wavelength_m, fact("nxe.aperture"))
fine_line_m = fact("exe.resolution_m")
fine_k1 = litho.k1_factor(fine_line_m, wavelength_m, fact("exe.aperture"))
spared_ratio = 1 / reflectivity_share**2
finer_ratio = line_m / fine_line_m
deep_m = litho.depth_of_focus_m(wavelength_m, fact("nxe.aperture"))
shallow_m = litho.depth_of_focus_m(wavelength_m, fact("exe.aperture"))
wafer_m = assume(0.3, "the diameter of the wafers that these scanners expose")
edge_m = assume(0.003, "a usual ring at the edge that is not used")
scribe_m = assume(0.0001, "a usual gap for the saw")
die_m2 = fact("h100-sxm.die_area_m2")
narrowest_m = die_m2 / fact("scanner-field.height_m")
room_m = fact("scanner-field.width_m") - narrowest_m
shapes = assume(20, "so many steps from the narrowest die that a field can hold to the widest")
widths = [narrowest_m + room_m * step / shapes for step in range(shapes + 1)]
dies = [litho.dies_on_wafer(width, die_m2 / width, wafer_m, edge_m, scribe_m) for width in widths]
fewest_dies = min(dies)
most_dies = max(dies)
estimated_dies = litho.dies_less_edge(die_m2, wafer_m)
flawless_share = litho.yield_share(die_m2, fact("tsmc-n5.defects_per_m2"))

# What the lecture says of the machine, and what we found.
lecture_price_usd = claim("lecture-euv-price")
price_usd = fact("exe.price_usd")
usual_price_usd = fact("euv-machine.price_usd")
years = fact("euv.first_product_year") - fact("euv.first_image_year")
verdicts = [
    {"of": "pulses a droplet", "said": claim("lecture-tin-pulses"), "found": fact("tin-source.pulses_count")},
    {"of": "layers of a mirror", "said": claim("lecture-zeiss-layers"), "found": fact("euv-optics.layers_count")},
    {"of": "suppliers", "said": claim("lecture-euv-suppliers"), "found": fact("asml.suppliers_count")},
    {"of": "years of work", "said": claim("lecture-euv-years"), "found": years},
]
