module broken
