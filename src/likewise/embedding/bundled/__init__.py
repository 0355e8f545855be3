"""The bundled encoder: EfficientNet-lite in ONNX Runtime, without torch."""
