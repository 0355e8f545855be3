"""The clustering methods: compositions of the rooms below."""
