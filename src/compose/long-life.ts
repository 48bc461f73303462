/**
 * To be called by what lives longer than a command: from here on code that runs often is compiled. The program starts
 * without, for most of its lives are over before that would pay.
 */
export function settleIn(): void {
  Bun.unsafe.setJITPolicy(1);
}
