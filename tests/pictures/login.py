"""Logs customers in."""

from shop.sessions import Session, store


def log_in(name, password):
    customer = check(name, password)
    session = Session(customer)
    # Stored first: the next request reads it.
    store.write(session)
    return session.token


def log_out(token):
    session = store.read(token)
    if session is not None:
        store.remove(session)
