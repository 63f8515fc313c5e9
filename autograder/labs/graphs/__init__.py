"""What grading a lab about graphs takes."""

PRELOAD = ("torch", "torch.fx", "torch.fx.experimental.proxy_tensor", "lab_utils.labs.graphs")
