/**
 * Reads; return nothing.
 */
export async function read(path: string, n = 10): Promise<void> {
	const text = `a ${path}
of lines`; // a comment
	return /re"x/.test(text) ? null : undefined;
}
