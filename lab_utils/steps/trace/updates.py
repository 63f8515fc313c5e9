"""The optimizer's update of one parameter, in operators that can be traced."""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import SGD, Adam, AdamW, Optimizer

from lab_utils.kit.errors import LabError


class Updater:
    """What an optimizer keeps for each parameter, and how it changes it.

    Raises:
        LabError: an optimizer other than SGD, Adam and AdamW.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        if type(optimizer) not in (SGD, Adam, AdamW):
            raise LabError(
                f"optimizer {type(optimizer).__name__} is not supported: use SGD, Adam or AdamW"
            )
        if optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:
            raise LabError(
                "the optimizer has step hooks, which a graph does not follow: remove them"
            )
        self.optimizer = optimizer
        self._groups = {id(p): group for group in optimizer.param_groups for p in group["params"]}

    def _settings(self, path: str, parameter: torch.Tensor) -> dict[str, Any]:
        if id(parameter) not in self._groups:
            raise LabError(
                f"parameter {path} requires a gradient but is not in the optimizer: build the "
                "optimizer from model.parameters(), or freeze it with requires_grad_(False)"
            )
        return self._groups[id(parameter)]

    def state(self, path: str, parameter: torch.Tensor) -> dict[str, torch.Tensor]:
        """The tensors kept for ``parameter``; zeros before its first step."""
        group = self._settings(path, parameter)
        if isinstance(self.optimizer, SGD):
            names = ["momentum_buffer"] if group["momentum"] else []
        else:
            names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
        known = self.optimizer.state.get(parameter, {})
        if group.get("dampening") and known.get("momentum_buffer") is None and names:
            raise LabError(
                "SGD takes its first step without dampening, and all others with it: trace with "
                "dampening=0, or after a first step"
            )
        state = {
            name: known[name]
            if known.get(name) is not None
            else torch.zeros_like(parameter, requires_grad=False)
            for name in names
        }
        if "exp_avg" in state:
            state["step"] = known.get("step", torch.zeros((), device=parameter.device))
        return state

    def update(
        self,
        path: str,
        parameter: torch.Tensor,
        traced: torch.Tensor,
        grad: torch.Tensor,
        state: dict[str, torch.Tensor],
    ) -> None:
        """Change ``traced`` (which stands for ``parameter``) in place, as the optimizer would."""
        group = self._settings(path, parameter)
        if isinstance(self.optimizer, SGD):
            from torch.optim.sgd import sgd

            kept = state.get("momentum_buffer")
            names = ("weight_decay", "momentum", "lr", "dampening", "nesterov", "maximize")
            sgd([traced], [grad], [kept], foreach=False, **_numbers(group, names))
            return
        from torch.optim.adam import adam

        largest = [state["max_exp_avg_sq"]] if group["amsgrad"] else []
        beta1, beta2 = group["betas"]
        adam(
            [traced],
            [grad],
            [state["exp_avg"]],
            [state["exp_avg_sq"]],
            largest,
            [state["step"]],
            fused=True,
            decoupled_weight_decay=group.get("decoupled_weight_decay", False),
            beta1=beta1,
            beta2=beta2,
            **_numbers(group, ("amsgrad", "lr", "weight_decay", "eps", "maximize")),
        )


def _numbers(group: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The group's settings; a learning rate held in a tensor becomes a number."""
    values = {name: group[name] for name in names}
    return {k: v.item() if isinstance(v, torch.Tensor) else v for k, v in values.items()}
