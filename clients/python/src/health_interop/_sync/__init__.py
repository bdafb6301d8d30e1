"""The modules of ServiceClient, generated from clients/contract.json but for base.py."""
