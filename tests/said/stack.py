"""The numbers in the explanations of claims on the stack, each a second time."""

SAID = {
    # 48 nodes of eight NPUs each.
    "lecture-workstation-limit": {"384": 48 * 8},
    "lecture-cann": {"2018": 2018},
    "lecture-pytorch-2016": {"2016": 2016, "2017": 2018 - 1},
}
