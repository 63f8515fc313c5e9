"""The network that the lab's accelerator runs, and what its arithmetic costs in silicon."""

from __future__ import annotations

from lab_utils.instruments.systolic.designs import Conv, Gemm

CONVS = (Conv("conv1", 40, 40, 3, 3, 3, 16, 1), Conv("conv2", 20, 20, 3, 3, 16, 4, 1))
GEMMS = (Gemm("gemm1", 1, 32, 80), Gemm("gemm2", 1, 80, 120), Gemm("gemm3", 1, 120, 10))
BANDWIDTH = 50
"""Words a cycle between each SRAM and memory: one value for the whole lab."""
PE_AREA = 525.0
"""Square micrometres of one processing element."""
KB_AREA = 1015.7
"""Square micrometres of 1 kB of SRAM."""
