/**
 * The same prompt without anything that Claude Code takes for a mention. Where a word of a prompt starts with @ and is
 * the name of a file, it reads that file and shows it to the model before the model has said a word, past every guard;
 * and a prompt is mostly the text of others. Its own switches either leave a note that the person wants the file read,
 * or take away more than mentions. A backslash is what no version reads past, and the model is told of it.
 */
export function withoutMentions(prompt: string): string {
  const safe = prompt.replaceAll(mention, "\\@");
  return safe === prompt ? prompt : `${safe}\n\n${note}`;
}

/** Behind a letter or a digit it is an address of somebody; anything else may count as the start of a word. */
const mention = /(?<![A-Za-z0-9_@\\])@(?=\S)/g;

const note = "In the text above a backslash before an at sign was put there on the way; it is not part of the text.";
