/** One line of JSON. Text of others may hold what a terminal obeys: people look at JSON on terminals too. */
export async function jsonText(value: object): Promise<string> {
  const json = JSON.stringify(value);
  if (/^[ -~]*$/.test(json)) return json;
  const { visibleJson } = await import("../../domain/text/visible.ts");
  return visibleJson(json);
}
