"""A language model answers, through any OpenAI-compatible endpoint."""
