"""Loss functions: plain functions of tensors."""
