package unlisted
