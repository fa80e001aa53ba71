package top_test

import (
	_ "broken/internal/probe"
	_ "broken/top"
)
