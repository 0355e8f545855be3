"""Networks, losses, augmentation and training loops (PyTorch)."""
