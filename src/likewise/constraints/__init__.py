"""What answers say of images: questions, answers, and the graph of what follows from them."""
