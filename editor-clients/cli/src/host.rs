//! What the driver needs of an agent host. It knows nothing of rawr's policy.
