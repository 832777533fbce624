// Why a change was made, as whoever makes it says.

export const maxReasonLength = 500;
