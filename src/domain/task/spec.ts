/** The text as it is kept: the author in a first line that renderers hide, and a newline at the end. */
export function specText(body: string, author: string | null): string {
  const head = author === null ? "" : `<!-- written-by: ${author} -->\n`;
  return `${head}${body}${body.endsWith("\n") ? "" : "\n"}`;
}
