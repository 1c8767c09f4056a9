"""Click models, one file per model. A new model: its file, one import line here, one test with one number."""

from podium.clicks.models.base import ClickModel as ClickModel
from podium.clicks.models.base import Fitted as Fitted
from podium.clicks.models.base import Predicted as Predicted
from podium.clicks.models.base import fit as fit
from podium.clicks.models.cascade import Cascade as Cascade
from podium.clicks.models.ccm import CCM as CCM
from podium.clicks.models.dbn import DBN as DBN
from podium.clicks.models.dcm import DCM as DCM
from podium.clicks.models.dctr import DCTR as DCTR
from podium.clicks.models.gctr import GCTR as GCTR
from podium.clicks.models.pbm import PBM as PBM
from podium.clicks.models.rctr import RCTR as RCTR
from podium.clicks.models.sdbn import SDBN as SDBN
from podium.clicks.models.ubm import UBM as UBM
