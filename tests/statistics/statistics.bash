# statistics.bash: what the statistical tests share. Other programs of the machine may disturb a measurement,
# so a test is repeated when it fails: it has failed when it fails three times in a row.
BATS_TEST_RETRIES=2
