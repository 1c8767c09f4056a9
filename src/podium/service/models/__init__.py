"""Models of the service: the model store, versions and aliases."""
