"""Published clustering methods to compare with: on the same vectors, oracle and budget."""

from collections.abc import Mapping

_HERE = "likewise_bench.baselines"

#: Name on the command line -> module and class; the entry point group ``likewise.methods``.
METHODS: Mapping[str, str] = {
    "cobra": f"{_HERE}.cobra:Cobra",
    "cop-kmeans": f"{_HERE}.constrained_kmeans:CopKMeans",
    "pckmeans": f"{_HERE}.pckmeans:PCKMeans",
    "sc": f"{_HERE}.classic:SC",
    "ac": f"{_HERE}.classic:AC",
    "nmf": f"{_HERE}.classic:NMF",
    "ae": f"{_HERE}.autoencoder:AE",
    "dec": f"{_HERE}.dec:DEC",
    "idec": f"{_HERE}.dec:IDEC",
    "sdec": f"{_HERE}.dec:SDEC",
    "dcc": f"{_HERE}.dec:DCC",
    "vae": f"{_HERE}.variational:VAE",
    "adc": f"{_HERE}.dec:ADC",
    "dc-gmm": f"{_HERE}.variational:DCGMM",
    "idc": f"{_HERE}.idc:IDC",
    "pica": f"{_HERE}.pica:PICA",
    "idfd": f"{_HERE}.idfd:IDFD",
    "gcc": f"{_HERE}.gcc:GCC",
    "mice": f"{_HERE}.mice:MiCE",
    "spice": f"{_HERE}.spice:SPICE",
    "tod": f"{_HERE}.tod:TOD",
    "autoembedder": f"{_HERE}.pair_embedding:AutoEmbedder",
    "spherepair": f"{_HERE}.pair_embedding:SpherePair",
    "pcl-authors": f"{_HERE}.pcl_authors:PCLAuthors",
}
