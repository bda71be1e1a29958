"""The reviewer's private document."""
