"""The DEC family: DEC, IDEC, SDEC, DCC and ADC, one objective with different terms."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor

from likewise.estimators.data import Data
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Questioner
from likewise.estimators.questioners import Candidates, PairQuestioner
from likewise.nn.losses.constrained import pairwise_nll
from likewise.queries.base import QueryStrategy
from likewise_bench.baselines.autoencoder import (
    AUTOENCODER_PLAN,
    AutoencoderObjective,
    LinkedPairs,
    autoencoder_network,
)
from likewise_bench.baselines.network_baseline import NetworkBaseline
from likewise_bench.baselines.pair_embedding import margin_distance, signed_distance


@dataclass(eq=False, repr=False, kw_only=True)
class DEC(NetworkBaseline):
    r"""Deep embedded clustering: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    encoder : str or Encoder
        Embeds images when no `backbone` is given.
    backbone : str or nn.Module, optional
        Train this network on the images themselves, from scratch.
    architecture : NetworkConfig, optional
    plan : TrainingPlan, optional
        Warm-up epochs train the reconstruction, all others the clustering.
    random_state : int, optional

    Notes
    -----
    J. Xie, R. Girshick, A. Farhadi: *Unsupervised deep embedding for clustering analysis*. ICML
    2016, [DEC]_. An autoencoder is pre-trained and its decoder dropped; k-means initialises
    centres in the 10 columns of z. Then centres and encoder minimise

    .. math:: L = \mathrm{KL}(P \| Q), \qquad
              q_{ij} \propto (1 + \|z_i - \mu_j\|^2)^{-1}, \qquad
              p_{ij} \propto q_{ij}^2 / \textstyle\sum_i q_{ij}.

    P is recomputed from all images in every epoch.

    Choices. One hidden layer instead of three (500, 500, 2000), since the inputs are features of
    a deep encoder. The input are the 256 leading principal directions of the same vectors as for
    all other methods, at mean square 1 as in the paper; of images, a copy of 16 x 16 is
    reconstructed. *Fidelity:* plain reconstruction where the paper trains layer by layer with
    dropout; Adam instead of SGD.

    Published property: self-training makes assignments more confident while hardly changing the
    initial clusters, and improves on k-means in the same embedding.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = autoencoder_network(data, self._config, s.n_clusters)
        objective = AutoencoderObjective(clustering=1.0)
        return self._network_learner(data, network, objective), NoQuestions()


@dataclass(eq=False, repr=False, kw_only=True)
class IDEC(NetworkBaseline):
    r"""Improved deep embedded clustering: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    gamma : float
        Weight of the clustering loss beside the reconstruction.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    X. Guo, L. Gao, X. Liu, J. Yin: *Improved deep embedded clustering with local structure
    preservation*. IJCAI 2017.

    .. math:: L = \|x - g(f(x))\|^2 + \gamma\, \mathrm{KL}(P \| Q), \qquad \gamma = 0.1,

    with Q and P of `DEC`. The decoder is kept, so that clustering does not destroy the local
    structure of the embedding.

    Choices. As for `DEC`: one hidden layer, 256 directions. Adam at 2e-3 like the other
    autoencoder baselines; the paper has 1e-3. The error is the mean over columns and the
    divergence the mean over images, so that gamma does not depend on sizes. *Inferred:* targets
    are updated once an epoch; in the paper every 140 batches.

    Published property: it clusters as well as `DEC` and reconstructs far better.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    gamma: float = 0.1

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = autoencoder_network(data, self._config, s.n_clusters)
        objective = AutoencoderObjective(reconstruction=1.0, clustering=s.gamma)
        return self._network_learner(data, network, objective), NoQuestions()


@dataclass(eq=False, repr=False, kw_only=True)
class SDEC(NetworkBaseline):
    r"""Semi-supervised deep embedded clustering: DEC with distances of answered pairs.

    Parameters
    ----------
    n_clusters : int
    weight : float
        :math:`\lambda`, of the pairs beside the clustering.
    clip : float
        Squared distance beyond which cannot-linked images are no longer pushed apart.
    strategy : str or QueryStrategy
        How pairs are selected; the paper draws them at random.
    candidates : {"random", "anchored", "anchored-wide"}
        The pairs to select from.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    Y. Ren, K. Hu, X. Dai, L. Pan, S. Hoi, Z. Xu: *Semi-supervised deep embedded clustering*.
    Neurocomputing 2019.

    .. math:: L = \mathrm{KL}(P \| Q)
              + \frac{\lambda}{n} \sum_{ij} a_{ij} \|z_i - z_j\|^2, \qquad a_{ij} = +1, -1, 0,

    with Q and P of `DEC`, a = +1 for must-links, -1 for cannot-links.

    Choices. The cannot-link term has no lower bound and could dominate the loss, so it is
    clipped. The sum over n is replaced by the mean over the linked pairs of the batch, given or
    implied, and half of every batch are images with answers: with a hundred answers among
    thousands of images, the images of a pair would hardly ever be in the same batch. Therefore
    our weight is not the paper's 1e-5, which multiplies a sum over n^2 entries of a.

    Published property: with answers it improves over `DEC`.
    """

    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    weight: float = 0.1
    clip: float = 25.0
    strategy: str | QueryStrategy = "random"
    candidates: Candidates = "random"

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = autoencoder_network(data, self._config, s.n_clusters)
        objective = AutoencoderObjective(
            clustering=1.0, pairs=partial(sdec_pair_terms, weight=s.weight, clip=s.clip)
        )
        learner = self._network_learner(data, network, objective)
        return learner, PairQuestioner(s.strategy, s.candidates)


@dataclass(eq=False, repr=False, kw_only=True)
class DCC(NetworkBaseline):
    r"""Deep constrained clustering: IDEC with the likelihood of answered pairs.

    Parameters
    ----------
    n_clusters : int
    gamma : float
        Weight of the clustering loss beside the reconstruction.
    weight : float
        Weight of the pairs.
    strategy, candidates
        How pairs are selected, as in `SDEC`.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    H. Zhang, T. Zhan, S. Basu, I. Davidson: *A framework for deep constrained clustering*. 2021,
    [DCC]_. The loss of `IDEC` and, with :math:`s = \sum_k q_{ik} q_{jk}`,

    .. math:: \ell_{ML} = -\log s, \qquad \ell_{CL} = -\log(1 - s).

    Choices. The paper alternates between all images, must-links and cannot-links; here both
    kinds of pairs are in every batch, half of which are images with answers. Implied constraints
    count like given ones. *Fidelity:* instance difficulty, triplets and global size constraints
    of the framework are left out, since the oracle gives pairs.

    Published property: with answers it improves over `IDEC` and `DEC`; without any it is `IDEC`.
    """

    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    gamma: float = 0.1
    weight: float = 1.0
    strategy: str | QueryStrategy = "random"
    candidates: Candidates = "random"

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = autoencoder_network(data, self._config, s.n_clusters)
        objective = AutoencoderObjective(
            reconstruction=1.0,
            clustering=s.gamma,
            pairs=partial(dcc_pair_terms, weight=s.weight),
        )
        learner = self._network_learner(data, network, objective)
        return learner, PairQuestioner(s.strategy, s.candidates)


@dataclass(eq=False, repr=False, kw_only=True)
class ADC(NetworkBaseline):
    r"""Active deep clustering: DEC, a contrastive loss over answered pairs, uncertain pairs asked.

    Parameters
    ----------
    n_clusters : int
    weight : float
        Of the pairs beside the clustering.
    margin : float
        Distance that cannot-linked images should have.
    strategy : str or QueryStrategy
        How pairs are selected; by default the most uncertain ones.
    candidates : {"random", "anchored", "anchored-wide"}
        The pairs to select from; by default an image with one of a known group.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    B. Sun, P. Zhou, L. Du, X. Li: *Active deep image clustering*. Knowledge-Based Systems 2022.
    Not the ADC of Haeusser et al., 2018, which is another system. Representation, clustering and
    the selection of pairs form one loop; labelled and unlabelled images both train the network;
    the contrastive loss compares answered pairs only, and must-links are more informative than
    cannot-links.

    There is no public code, and this is what was *inferred* from its description in [PCL]_ and
    [DSAC]_: unlabelled images follow the self-training of `DEC`; an answered pair costs
    :math:`d^2` if same and :math:`\max(0, m - d)^2` if not; the two kinds have equal total
    weight, so each of the rarer must-links counts more; between rounds, the pairs asked are those
    whose probability of being the same is nearest one half, each of a new image and an image of
    a known group, which is how must-links are found.

    Published property: its questions help more than as many at random. On synthetic vectors eight
    do, because of `candidates`, not of `strategy`; from thirty on, both are enough there.
    """

    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    weight: float = 0.1
    margin: float = 5.0
    strategy: str | QueryStrategy = "uncertainty"
    candidates: Candidates = "anchored"

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = autoencoder_network(data, self._config, s.n_clusters)
        objective = AutoencoderObjective(
            clustering=1.0, pairs=partial(adc_pair_terms, weight=s.weight, margin=s.margin)
        )
        learner = self._network_learner(data, network, objective)
        return learner, PairQuestioner(s.strategy, s.candidates)


def sdec_pair_terms(
    output: NetworkOutput, linked: LinkedPairs, *, weight: float, clip: float
) -> dict[str, Tensor]:
    """Return SDEC's signed distances."""
    return {"pairs": weight * signed_distance(*linked.of(output.z), linked.relations, clip=clip)}


def dcc_pair_terms(
    output: NetworkOutput, linked: LinkedPairs, *, weight: float
) -> dict[str, Tensor]:
    """Return DCC's negative log-likelihood of the answers."""
    log_q = output.p.clamp_min(torch.finfo(output.p.dtype).tiny).log()
    return {"pairs": weight * pairwise_nll(*linked.of(log_q), linked.relations)}


def adc_pair_terms(
    output: NetworkOutput, linked: LinkedPairs, *, weight: float, margin: float
) -> dict[str, Tensor]:
    """Return ADC's contrastive loss, must-links and cannot-links separately."""
    terms = {}
    for name, kind in (("same", linked.relations > 0), ("different", linked.relations < 0)):
        if kind.any():
            some = LinkedPairs(linked.first[kind], linked.second[kind], linked.relations[kind])
            loss = margin_distance(*some.of(output.z), some.relations, margin=margin)
            terms[name] = weight * loss
    return terms
