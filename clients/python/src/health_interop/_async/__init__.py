"""The modules of AsyncServiceClient, generated from clients/contract.json but for base.py and driver.py."""
