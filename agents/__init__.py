"""Agents: best-arm identification algorithms, made by ``make(name)`` and listed by ``names()``."""

from bai_gym.agents.apt import APT, ThresholdUCBE, ThresholdUCBEV
from bai_gym.agents.augucb import AugUCB
from bai_gym.agents.base import Agent
from bai_gym.agents.bayes_gap import BayesGap
from bai_gym.agents.bayes_optimal import BayesOptimal
from bai_gym.agents.bayesian import EI, GPTS, GPUCB, PI, BayesUCB
from bai_gym.agents.csar import CSAR
from bai_gym.agents.gape import AGapE, AGapEV, GapE, GapEV
from bai_gym.agents.gaussian_process import GaussianProcessAgent
from bai_gym.agents.gse import GSELin, GSELinFWG, GSELinGreedy, GSELinWynn, GSELog, GSELogFWG
from bai_gym.agents.knowledge_gradient import KG
from bai_gym.agents.learned import Learned
from bai_gym.agents.lin_gape import LinGapE, LinGapEGreedy
from bai_gym.agents.lin_ucb import LinUCB
from bai_gym.agents.lucb import LUCB
from bai_gym.agents.ocba import OCBA
from bai_gym.agents.od_linbai import ODLinBAI
from bai_gym.agents.peace import PeaceRho
from bai_gym.agents.registry import make, names, register
from bai_gym.agents.sar import SAR
from bai_gym.agents.sb3 import SB3Agent
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.sequential_halving import SequentialHalving
from bai_gym.agents.shadavar import SHAdaVar
from bai_gym.agents.shvar import SHVar
from bai_gym.agents.successive_rejects import SuccessiveRejects
from bai_gym.agents.thompson import TS, TTTS
from bai_gym.agents.ucb1 import UCB1
from bai_gym.agents.ucb_e import UCBE, AdaptiveUCBE
from bai_gym.agents.ucb_glm import UCBGLM
from bai_gym.agents.ugape import AUGapEb, AUGapEbV, UGapEb, UGapEbV, UGapEc, UGapEcV
from bai_gym.agents.uniform import Uniform
from bai_gym.agents.vbr import VBR

__all__ = [
    "EI",
    "GPTS",
    "GPUCB",
    "KG",
    "PI",
    "BayesGap",
    "BayesUCB",
    "APT",
    "CSAR",
    "LUCB",
    "SAR",
    "AUGapEb",
    "AUGapEbV",
    "UGapEb",
    "UGapEbV",
    "UGapEc",
    "UGapEcV",
    "OCBA",
    "TS",
    "TTTS",
    "UCB1",
    "UCBE",
    "UCBGLM",
    "VBR",
    "AGapE",
    "AGapEV",
    "AdaptiveUCBE",
    "Agent",
    "AugUCB",
    "BayesOptimal",
    "GSELin",
    "GSELinFWG",
    "GSELinGreedy",
    "GSELinWynn",
    "GSELog",
    "GSELogFWG",
    "GapE",
    "GapEV",
    "GaussianProcessAgent",
    "Learned",
    "ODLinBAI",
    "PeaceRho",
    "LinGapE",
    "LinGapEGreedy",
    "LinUCB",
    "SB3Agent",
    "SHAdaVar",
    "SHVar",
    "SequentialAgent",
    "SequentialHalving",
    "SuccessiveRejects",
    "ThresholdUCBE",
    "ThresholdUCBEV",
    "Uniform",
    "make",
    "names",
    "register",
]
