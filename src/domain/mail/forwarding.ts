/** The note below mail whose addressee has ended: its reader acts in place of the addressee. */
export const forwardNote = (addressee: string): string =>
  `\n\n[forwarded: ${addressee}, to whom it was sent, has ended. What it asks of ${addressee} is for you to do]`;

/** The words of a message without the note that it was forwarded. */
export const withoutForwarding = (body: string): string => body.replace(note, "");

export const isForwarded = (body: string): boolean => note.test(body);

const note = /\n\n\[forwarded: [^\n]*\]$/;
