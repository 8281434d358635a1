"""Who may do what: tokens, invitations, sessions, and the dependencies that ask for them."""
