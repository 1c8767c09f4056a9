from .foreign_file import MOST_BYTES as MOST_BYTES
from .import_model import as_model as as_model
from .import_model import import_model as import_model
