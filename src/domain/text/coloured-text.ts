const escapeSign = "\u001b";
/** What a terminal obeys beside colours: titles and links, movements of the cursor, single letters behind an escape. */
const commands = new RegExp(
  [
    String.raw`\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?`,
    String.raw`\u001b[PX^_][^\u001b]*(?:\u001b\\)?`,
    String.raw`\u001b\[[0-9;:?<=>]*[ -/]*[@-ln-~]`,
    String.raw`\u001b[ -/]*[0-Z\\^-~]`,
  ].join("|"),
  "g",
);
/** Control characters without lines, tabs and the beginning of a colour. */
const controls = new RegExp(`(?![\\n\\t${escapeSign}])\\p{Cc}`, "gu");

/**
 * The output of a program as a person would see it: colours stay, other commands to a terminal go, and of a line that was
 * written over and over the last writing stays.
 */
export const colouredText = (text: string): string =>
  text.replace(commands, "").split("\n").map(lastWriting).join("\n").replace(controls, "");

function lastWriting(line: string): string {
  const written = line.replace(/\r+$/, "");
  return written.slice(written.lastIndexOf("\r") + 1);
}
