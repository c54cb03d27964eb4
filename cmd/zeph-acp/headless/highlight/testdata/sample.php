<p>text</p>
<?php
/* a comment
function */
function open(string $name): int {
	return strlen("$name") + 1; // one more
}
