"""Services on trial: images, containers, links, and that nothing of them is ever left behind."""
