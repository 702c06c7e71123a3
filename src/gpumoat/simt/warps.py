"""Warp-wide operations: what each lane gets, from what all lanes that take part have brought.

A lane's request is (number of the operation, mask, value, and for shuffles the other operand).
"""

from typing import Any

from gpumoat.simt.record import WARP_LANES

BLOCK_NAMES = {"syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or"}


def signed32(bits: int) -> int:
    """Return 32 bits as the int32 that numba types a mask as."""
    return bits - (1 << 32) if bits >> 31 else bits


def source_lane(name: str, lane: int, operand: int) -> int:
    """Return the lane that a shuffle reads from; its own where the other lies outside the warp."""
    operand &= 0xFFFFFFFF
    if name == "shfl_sync":
        return operand % WARP_LANES
    if name == "shfl_up_sync":
        other = lane - (operand & 31)
    elif name == "shfl_down_sync":
        other = lane + (operand & 31)
    else:
        other = lane ^ (operand & 31)
    return other if 0 <= other < WARP_LANES else lane


def answer(name: str, requests: dict[int, Any]) -> tuple[dict[int, Any], list[int]]:
    """Return each lane's answer, and the lanes whose answer is undefined on the card.

    Undefined is a shuffle from a lane that takes no part, and an operation whose mask does not name the caller.
    """
    outside = [lane for lane, request in requests.items() if not request[1] >> lane & 1]
    inside = {lane: request for lane, request in requests.items() if request[1] >> lane & 1} or requests
    if name == "syncwarp":
        return dict.fromkeys(requests), outside
    if name == "activemask":
        mask = sum(1 << lane for lane in requests)
        return dict.fromkeys(requests, mask), []
    if name.startswith("shfl"):
        replies, absent = {}, list(outside)
        for lane, request in requests.items():
            other = source_lane(name, lane, request[3])
            if other not in inside:
                absent.append(lane)
                other = lane
            replies[lane] = requests[other][2]
        return replies, absent
    values = {lane: request[2] for lane, request in inside.items()}
    if name == "ballot_sync":
        return dict.fromkeys(requests, signed32(sum(1 << lane for lane, value in values.items() if value))), outside
    if name == "all_sync":
        return dict.fromkeys(requests, all(values.values())), outside
    if name == "any_sync":
        return dict.fromkeys(requests, any(values.values())), outside
    if name == "eq_sync":
        return dict.fromkeys(requests, len(set(values.values())) == 1), outside
    if name == "match_any_sync":
        return {
            lane: signed32(sum(1 << other for other, value in values.items() if value == request[2]))
            for lane, request in requests.items()
        }, outside
    mask = sum(1 << lane for lane in values)
    alike = len(set(values.values())) == 1
    return dict.fromkeys(requests, (signed32(mask) if alike else 0, alike)), outside
