"""The algorithms: one file per family, all behind ``make(name)`` and ``names()``."""

import importlib as _importlib
import os as _os

for _module, _names in [('bai_gym.agents.apt', ['APT', 'ThresholdUCBE', 'ThresholdUCBEV']), ('bai_gym.agents.augucb', ['AugUCB']), ('bai_gym.agents.base', ['Agent', 'PlannedAgent']), ('bai_gym.agents.bayes_gap', ['BayesGap']), ('bai_gym.agents.bayes_optimal', ['BayesOptimal']), ('bai_gym.agents.bayesian', ['EI', 'GPTS', 'GPUCB', 'PI', 'BayesUCB']), ('bai_gym.agents.csar', ['CSAR']), ('bai_gym.agents.gape', ['AGapE', 'AGapEV', 'GapE', 'GapEV']), ('bai_gym.agents.gaussian_process', ['GaussianProcessAgent']), ('bai_gym.agents.gse', ['GSELin', 'GSELinFWG', 'GSELinGreedy', 'GSELinWynn', 'GSELog', 'GSELogFWG']), ('bai_gym.agents.knowledge_gradient', ['KG']), ('bai_gym.agents.learned', ['Learned']), ('bai_gym.agents.lin_gape', ['LinGapE', 'LinGapEGreedy']), ('bai_gym.agents.lin_ucb', ['LinUCB']), ('bai_gym.agents.lucb', ['LUCB']), ('bai_gym.agents.ocba', ['OCBA']), ('bai_gym.agents.od_linbai', ['ODLinBAI']), ('bai_gym.agents.peace', ['PeaceRho']), ('bai_gym.agents.registry', ['make', 'names', 'register']), ('bai_gym.agents.sar', ['SAR']), ('bai_gym.agents.sb3', ['SB3Agent']), ('bai_gym.agents.sequential_halving', ['SequentialHalving']), ('bai_gym.agents.shadavar', ['SHAdaVar']), ('bai_gym.agents.shvar', ['SHVar']), ('bai_gym.agents.successive_rejects', ['SuccessiveRejects']), ('bai_gym.agents.thompson', ['TS', 'TTTS']), ('bai_gym.agents.ucb1', ['UCB1']), ('bai_gym.agents.ucb_e', ['UCBE', 'AdaptiveUCBE']), ('bai_gym.agents.ucb_glm', ['UCBGLM']), ('bai_gym.agents.ugape', ['AUGapEb', 'AUGapEbV', 'UGapEb', 'UGapEbV', 'UGapEc', 'UGapEcV']), ('bai_gym.agents.uniform', ['Uniform']), ('bai_gym.agents.vbr', ['VBR'])]:
    try:
        _found = _importlib.import_module(_module)
    except ImportError as _error:
        if _os.environ.get("BAI_STRICT"):
            raise
        continue
    for _name in _names:
        if hasattr(_found, _name):
            globals()[_name] = getattr(_found, _name)
