create database switchyard;
