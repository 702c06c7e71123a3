"""What would you have to replace? The layers under a program, who has what on each, and who came when."""

from gpumoat import claim, fact
from gpumoat.dates import years_between
from gpumoat.stack import changed_lines, covered, layer, lead_spread_years, lead_years, ported

# The layers, from the program down, and the job of each.
jobs = {
    "packaging": "a model, its engine and a server in one container",
    "serving": "takes requests, batches them and hands them on",
    "engine": "rebuilds a trained model for one chip and runs it",
    "framework": "the module by which PyTorch reaches the chip",
    "collectives": "add up and share what the cards have computed",
    "primitives": "convolution, attention, normalisation",
    "mathematics": "multiplies matrices",
    "platform": "language, compiler, driver",
    "switches": "hardware: join the links of many cards",
    "links": "hardware: carry data from card to card",
}
layers = tuple(jobs)
layers_count = len(layers)
called = ("framework", "collectives", "primitives", "mathematics", "platform", "switches", "links")
changed_count = len([id for id in called if layer(id).amd != layer(id).nvidia])

nobody = {"nvidia": None, "amd": None, "huawei": None, "cambricon": None, "enflame": None, "intel": None}
stack = [{"layer": "Your program", "job": "the model, in PyTorch", **nobody}]
for id, job in jobs.items():
    each = layer(id)
    stack.append(
        {
            "layer": each.name,
            "job": job,
            "nvidia": each.nvidia,
            "amd": each.amd,
            "huawei": each.huawei,
            "cambricon": each.cambricon,
            "enflame": each.enflame,
            "intel": each.intel,
        }
    )
stack.append({"layer": "Silicon", "job": "the chips themselves", **nobody})

# Your own program, in lines that name the card in one place, and the same for each other card.
program = (
    "import torch",
    'card = torch.device("cuda")',
    "model = Model().to(card)",
    "for text, target in data:",
    "    loss = error(model(text.to(card)), target.to(card))",
    "    loss.backward()",
    "    optimizer.step()",
)
program_count = len(program)
way = layer("framework")
for_amd = ported(program, way.nvidia_device, way.amd_device)
for_huawei = ported(program, way.nvidia_device, way.huawei_device, way.huawei_import)
for_cambricon = ported(program, way.nvidia_device, way.cambricon_device, way.cambricon_import)
for_enflame = ported(program, way.nvidia_device, way.enflame_device, way.enflame_import)
for_intel = ported(program, way.nvidia_device, way.intel_device)
amd_lines = changed_lines(program, for_amd)
huawei_lines = changed_lines(program, for_huawei)
amd_count = covered(layers, "amd")
huawei_count = covered(layers, "huawei")
intel_count = covered(layers, "intel")
makers = [
    {"maker": "AMD", "called": way.amd_device, "lines": amd_lines, "layers": amd_count},
    {"maker": "Huawei", "called": way.huawei_device, "lines": huawei_lines, "layers": huawei_count},
    {
        "maker": "Cambricon",
        "called": way.cambricon_device,
        "lines": changed_lines(program, for_cambricon),
        "layers": covered(layers, "cambricon"),
    },
    {
        "maker": "Enflame",
        "called": way.enflame_device,
        "lines": changed_lines(program, for_enflame),
        "layers": covered(layers, "enflame"),
    },
    {"maker": "Intel", "called": way.intel_device, "lines": changed_lines(program, for_intel), "layers": intel_count},
]
for row in makers:
    print(f"{row['maker']}: lines to change or add {row['lines']}, layers covered {row['layers']} of {layers_count}")

# Who came when: AMD's first release on each layer against NVIDIA's, the oldest layer first.
leads = []
for dated in ("mathematics", "platform", "primitives", "collectives", "links", "engine", "serving", "packaging"):
    leads.append({"layer": layer(dated).name, "lead": lead_years(dated, "amd")})
oldest_years = lead_years("mathematics", "amd")
oldest_spread_years = lead_spread_years("mathematics", "amd")
oldest_low_years = oldest_years - oldest_spread_years
oldest_high_years = oldest_years + oldest_spread_years
second_years = lead_years("platform", "amd")
second_spread_years = lead_spread_years("platform", "amd")
second_low_years = second_years - second_spread_years
second_high_years = second_years + second_spread_years
since_years = [row["lead"] for row in leads[2:]]
longest_since_years = max(since_years)
shortest_years = min(since_years)

releases = []
for dated in layers:
    part = layer(dated)
    releases.append(
        {
            "layer": part.name,
            "nvidia_date": part.nvidia_date,
            "amd_date": part.amd_date,
            "huawei_date": part.huawei_date,
            "intel_date": part.intel_date,
        }
    )

# Whose code AMD's library of collectives is.
collectives = layer("collectives")
rccl_own_years = years_between(collectives.amd_date, collectives.amd_second_date)
rccl_shared_share = fact("rccl-nccl-commits") / fact("rccl-commits")

# What the lecture says: it names six libraries, and two of them are hardware.
named = [layer(id).nvidia for id in ["mathematics", "primitives", "collectives", "engine", "links", "switches"]]
hardware = [layer(id).nvidia for id in ["links", "switches"]]
software_count = len([one for one in named if one not in hardware])
verdicts = [
    {"of": "libraries above CUDA", "said": claim("lecture-six-libraries"), "found": software_count},
    {"of": "first release of PyTorch, year", "said": claim("lecture-pytorch-2016"), "found": fact("pytorch-year")},
]
