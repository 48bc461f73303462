/** The end of a turn that went well and said nothing. */
export const settledTurn = (endedAt: number) =>
  ({
    status: "settled",
    clean: true,
    resultText: null,
    exitCode: 0,
    exitSignal: null,
    terminalMessageSeq: null,
    error: null,
    failure: null,
    advice: null,
    endedAt,
  }) as const;
