from .trees import Trees as Trees
