"""Who answers: labels, noisy labels, recorded answers, a person at a terminal."""
