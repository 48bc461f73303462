/** The first line of every instruction file of ours, by which we know it again. */
export const instructionMark = "<!-- overstory:instructions -->";
