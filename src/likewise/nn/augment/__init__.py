"""Random augmentation of images and of feature vectors."""
